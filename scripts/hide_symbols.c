/* hide_symbols.c -- hides the symbols that the objects of an archive define from other modules.
 *
 *   hide_symbols libeddy.a
 *
 * The objects are compiled once, with the public functions visible, because the shared library
 * exports them.  In a program or plugin linked from the archive they must be private: a plugin that
 * exported them could share them with other plugins that contain another version. No tool of
 * binutils changes the visibility of a symbol, so this program does, in place: two bits of each
 * entry of the symbol tables. Members that are not ELF objects, or for
 * addresses of another width, are left unchanged. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__ELF__)
#include <ar.h>
#include <elf.h>
#include <link.h>

/* Entries may lie at any address. */
static void hide_symbol(char *at)
{
    ElfW(Sym) s;
    memcpy(&s, at, sizeof s);
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_BIND(s.st_info) == STB_LOCAL ||
        ELF64_ST_VISIBILITY(s.st_other) != STV_DEFAULT)
        return;
    s.st_other |= STV_HIDDEN;
    memcpy(at, &s, sizeof s);
}

/* False if the sections lie outside of the object. */
static bool hide_object(char *object, size_t size)
{
    const char width = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
    ElfW(Ehdr) head;
    if (size < sizeof head || memcmp(object, ELFMAG, SELFMAG) != 0 || object[EI_CLASS] != width)
        return true;
    memcpy(&head, object, sizeof head);
    for (size_t i = 0; i < head.e_shnum; i++) {
        const size_t at = head.e_shoff + i * sizeof(ElfW(Shdr));
        ElfW(Shdr)   section;
        if (at + sizeof section > size) return false;
        memcpy(&section, object + at, sizeof section);
        if (section.sh_type != SHT_SYMTAB) continue;
        if (section.sh_offset + section.sh_size > size) return false;
        for (size_t k = 0; k + sizeof(ElfW(Sym)) <= section.sh_size; k += sizeof(ElfW(Sym)))
            hide_symbol(object + section.sh_offset + k);
    }
    return true;
}

static bool hide_archive(char *bytes, size_t size)
{
    if (size < SARMAG || memcmp(bytes, ARMAG, SARMAG) != 0) return false;
    for (size_t at = SARMAG; at + sizeof(struct ar_hdr) <= size;) {
        struct ar_hdr head;
        memcpy(&head, bytes + at, sizeof head);
        const size_t length = strtoul(head.ar_size, NULL, 10);
        at += sizeof head;
        if (length > size - at || !hide_object(bytes + at, length)) return false;
        at += length + length % 2;
    }
    return true;
}
#else
static bool hide_archive(char *bytes, size_t size)
{
    (void)bytes, (void)size;
    return true;
}
#endif

static bool hide_file(FILE *f)
{
    long size;
    if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        return false;
    char *bytes = malloc((size_t)size + 1);
    bool  ok = bytes && fread(bytes, 1, (size_t)size, f) == (size_t)size &&
              hide_archive(bytes, (size_t)size) && fseek(f, 0, SEEK_SET) == 0 &&
              fwrite(bytes, 1, (size_t)size, f) == (size_t)size;
    free(bytes);
    return ok;
}

int main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "r+b") : NULL;
    bool  ok = f && hide_file(f);
    if (f && fclose(f) != 0) ok = false;
    if (!ok) fprintf(stderr, "hide_symbols: %s: no archive of objects\n", argc == 2 ? argv[1] : "ARCHIVE");
    return !ok;
}
