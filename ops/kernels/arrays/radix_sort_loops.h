/* radix_sort_loops.h -- radix sort of words W, whose lower half, BITS of them, is the index of an
 * element, in as many passes as there are bytes in which the words differ; and selection of the k
 * smallest of many words. Included by sort_words.c for two widths, with NAME and four functions of
 * words defined. */

static void NAME(insert)(W *v, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const W w = v[i];
        int64_t j = i;
        for (; j > 0 && NAME(less)(w, v[j - 1]); j--) v[j] = v[j - 1];
        v[j] = w;
    }
}

/* Returns false if the run must end. */
static bool NAME(pass)(W *to, const W *from, int64_t n, int byte, uint32_t *count,
                       const eddy_stop *stop)
{
    uint32_t sum = 0;
    for (int b = 0; b < 256; b++) {
        const uint32_t here = count[b];
        count[b] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < n;) {
        if (eddy__stopped(stop)) return false;
        for (const int64_t end = n - i < SORT_PART ? n : i + SORT_PART; i < end; i++)
            to[count[NAME(byte)(from[i], byte)]++] = from[i];
    }
    return true;
}

/* Sorts by the bytes from number `first` on; those below are already in order. Returns false, with
 * any words, if the run must end. */
static bool NAME(sort_from)(void *words, void *room, int64_t n, int first, const eddy_stop *stop)
{
    enum { BYTES = 2 * BITS / 8 };
    uint32_t count[BYTES][256];
    W *v = words, *other = room;
    if (n <= FEW) {
        NAME(insert)(v, n);
        return true;
    }
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n;) {
        if (eddy__stopped(stop)) return false;
        for (const int64_t end = n - i < SORT_PART ? n : i + SORT_PART; i < end; i++)
            for (int b = first; b < BYTES; b++) count[b][NAME(byte)(v[i], b)]++;
    }
    for (int b = first; b < BYTES; b++) {
        if (count[b][NAME(byte)(v[0], b)] == n) continue;
        if (!NAME(pass)(other, v, n, b, count[b], stop)) return false;
        W *const sorted = other;
        other = v;
        v = sorted;
    }
    if (v != words) memcpy(words, v, (size_t)n * sizeof *v);
    return true;
}

static bool NAME(sort)(void *words, void *room, int64_t n, const eddy_stop *stop)
{
    return NAME(sort_from)(words, room, n, BITS / 8, stop);
}

static int64_t NAME(place)(const void *words, int64_t i)
{
    return NAME(index)(((const W *)words)[i]);
}

static W NAME(middle)(W a, W b, W c)
{
    const W low = NAME(less)(a, b) ? a : b, high = NAME(less)(a, b) ? b : a;
    return NAME(less)(c, low) ? low : NAME(less)(c, high) ? c : high;
}

/* Moves the k smallest of n words to the front: partitions around the median of three, and sorts
 * if that takes too many partitions. */
static void NAME(select)(W *v, W *room, int64_t n, int64_t k)
{
    int64_t from = 0, to = n;
    for (int round = 0; to - from > FEW; round++) {
        if (round == 64) {
            NAME(sort_from)(v, room, n, 0, NULL);
            return;
        }
        const W pivot = NAME(middle)(v[from], v[(from + to) / 2], v[to - 1]);
        int64_t i = from, j = to - 1;
        while (i <= j) {
            while (NAME(less)(v[i], pivot)) i++;
            while (NAME(less)(pivot, v[j])) j--;
            if (i > j) break;
            const W w = v[i];
            v[i++] = v[j];
            v[j--] = w;
        }
        if (k <= j) to = j + 1;
        else if (k >= i) from = i;
        else return;
    }
    NAME(insert)(v + from, to - from);
}
