// The kernels of warpboard_hold.h and the gate of warpboard_seal.h as PTX, for programs that are compiled without nvcc. Each
// does the same as the CUDA kernel of its name.
#ifndef WARPBOARD_KERNELS_H
#define WARPBOARD_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "warpboard_hold.h"

namespace warpboard {

// PtxText builds PTX from templates with values in braces.
class PtxText {
public:
    // Returns the PTX of the judge's kernels.
    static std::string judge() { return head + fill(std::string(of_hold) + of_seal, values()); }

    // Returns the PTX of the runner's gate.
    static std::string gate() { return head + fill(of_gate, values()); }

private:
    using Values = std::map<std::string, std::string>;

    static std::string fill(std::string text, const Values& values) {
        for (const auto& [name, value] : values) {
            const std::string hole = "{" + name + "}";
            for (size_t at = text.find(hole); at != std::string::npos; at = text.find(hole, at + value.size())) text.replace(at, hole.size(), value);
        }
        return text;
    }

    static Values values() {
        const auto number = [](uint64_t n) { return std::to_string(n); };
        return {
            {"registers", registers}, {"part", part},
            {"block of header", block("index", "ROUND_OF_HEADER")}, {"block of data", block("index", "ROUND_OF_DATA")}, {"block", block("index", "ROUND")},
            {"load part", each_word("ld.global.u32 d#, [from+@data];\n")},
            {"open part", each_word("add.u32 t, offset, #;\nsetp.lt.u32 is, t, words;\nxor.b32 x#, x#, d#;\n@is st.global.u32 [to+@at], x#;\n")},
            {"seal part", each_word("add.u32 t, offset, #;\nsetp.lt.u32 is, t, words;\nmov.u32 d#, 0;\n@is ld.global.u32 d#, [from+@at];\n"
                                    "xor.b32 d#, d#, x#;\nst.global.u32 [to+@data], d#;\n")},
            {"record bytes", number(sizeof(Record))}, {"record words", number(record_words)}, {"blocks of record", number(1 + record_parts)},
            {"record tag", number(record_tag)}, {"row bytes", number(sizeof(Sealed) * most_rows)}, {"piece bytes", number(sizeof(Piece) * most_pieces)},
            {"first", number(offsetof(HoldPage, first))}, {"let go at", number(offsetof(HoldPage, let_go_at))},
            {"held", number(offsetof(HoldPage, held))}, {"let go", number(offsetof(HoldPage, let_go))},
            {"pieces", number(offsetof(HoldPage, pieces))}, {"rows", number(offsetof(HoldPage, rows))}, {"active", number(offsetof(Page, active))},
        };
    }

    // Returns the template repeated for each of the 16 words of a part, with # replaced by the word's number, @at by
    // its offset in bytes, and @data by its offset behind a record's header.
    static std::string each_word(const std::string& lines) {
        std::string text;
        for (unsigned i = 0; i < Record::part_words; ++i) {
            std::string one = lines;
            const std::pair<std::string, std::string> holes[] = {
                {"@data", std::to_string(offsetof(Record, data) + 4 * i)}, {"@at", std::to_string(4 * i)}, {"#", std::to_string(i)}};
            for (const auto& [hole, value] : holes) {
                for (size_t at = one.find(hole); at != std::string::npos; at = one.find(hole, at + value.size())) one.replace(at, hole.size(), value);
            }
            text += one;
        }
        return text;
    }

    // Returns PTX that computes a block of the cipher (Random::under) in the registers x0 to x15. The register index
    // has the block's number, k0 to k2 the key, and number the call's number. It is a loop, because code that is not in
    // a device's caches loads slowly.
    static std::string block(const std::string& index, const std::string& label) {
        const std::vector<std::string> words{"0x61707865", "0x3320646E", "0x79622D32", "0x6B206574", "k0", "k1", "k2", "number",
                                             "0", "0", "0", "0", index, "0", "0", "0"};
        std::string text;
        for (size_t i = 0; i < words.size(); ++i) text += "mov.u32 x" + std::to_string(i) + ", " + words[i] + ";\n";
        text += "mov.u32 round, 0;\n" + label + ":\n";
        for (int shift = 0; shift < 2; ++shift) {
            for (int i = 0; i < 4; ++i) quarter(text, i, 4 + (i + shift) % 4, 8 + (i + 2 * shift) % 4, 12 + (i + 3 * shift) % 4);
        }
        text += "add.u32 round, round, 1;\nsetp.lt.u32 is, round, 4;\n@is bra " + label + ";\n";
        for (size_t i = 0; i < words.size(); ++i) {
            if (words[i] != "0") text += "add.u32 x" + std::to_string(i) + ", x" + std::to_string(i) + ", " + words[i] + ";\n";
        }
        return text;
    }

    static void quarter(std::string& text, int a, int b, int c, int d) {
        const int steps[4][4] = {{a, b, d, 16}, {c, d, b, 12}, {a, b, d, 8}, {c, d, b, 7}};
        for (const auto& [into, other, turned, by] : steps) {
            const std::string x = "x" + std::to_string(into), y = "x" + std::to_string(other), z = "x" + std::to_string(turned);
            text += "add.u32 " + x + ", " + x + ", " + y + ";\nxor.b32 " + z + ", " + z + ", " + x + ";\n";
            text += "shf.l.wrap.b32 " + z + ", " + z + ", " + z + ", " + std::to_string(by) + ";\n";
        }
    }

    static constexpr const char* head = ".version 6.3\n.target sm_70\n.address_size 64\n";

    static constexpr const char* registers = R"(
    .reg .u32 x<16>, d<16>, k<3>, number, index, part, record, within, offset, words, most, thread, group, threads, round, t;
    .reg .u64 at, from, to, place, high, t8;
    .reg .pred is, other, outside;
)";

    // Computes the part of a record that this thread handles, its record, and its offset there.
    static constexpr const char* part = R"(
    mov.u32 thread, %tid.x;
    mov.u32 group, %ctaid.x;
    mov.u32 threads, %ntid.x;
    mad.lo.u32 part, group, threads, thread;
    shr.u32 record, part, 3;
    and.b32 within, part, 7;
    shl.b32 offset, within, 4;
)";

    static constexpr const char* of_hold = R"(
.visible .entry begin_writing(.param .u64 p_page)
{
    .reg .u64 page, now;
    ld.param.u64 page, [p_page];
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [page+{first}], now;
    ret;
}

.func read_pieces(.reg .u64 page, .reg .u64 table, .reg .u32 count)
{
    .reg .u64 at, value;
    .reg .u32 thread, end;
    .reg .pred is;
    mov.u32 thread, %tid.x;
    shl.b32 end, count, 2;
    setp.ge.u32 is, thread, end;
    @is bra DONE;
    mul.wide.u32 at, thread, 8;
    add.u64 page, page, at;
    add.u64 at, at, table;
    ld.volatile.global.u64 value, [page+{pieces}];
    st.shared.u64 [at], value;
DONE:
    bar.sync 0;
    ret;
}

.func move_pieces(.reg .u64 table, .reg .u32 count, .reg .u64 into, .reg .u64 column)
{
    .reg .u64 row, to, source, words, at;
    .reg .u32 index, end, step, value;
    .reg .pred is;
    mov.u32 index, %tid.x;
    mov.u32 step, %ntid.x;
    mul.lo.u32 end, count, {record words};
NEXT:
    setp.ge.u32 is, index, end;
    @is bra DONE;
    div.u32 value, index, {record words};
    mul.wide.u32 row, value, 32;
    add.u64 row, row, table;
    ld.shared.u64 words, [row+24];
    add.u64 at, row, into;
    ld.shared.u64 to, [at];
    add.u64 at, row, column;
    ld.shared.u64 source, [at];
    rem.u32 value, index, {record words};
    add.u32 index, index, step;
    cvt.u64.u32 at, value;
    setp.ge.u64 is, at, words;
    @is bra NEXT;
    shl.b64 at, at, 2;
    add.u64 source, source, at;
    add.u64 to, to, at;
    ld.global.u32 value, [source];
    st.global.u32 [to], value;
    bra NEXT;
DONE:
    bar.sync 0;
    ret;
}

.visible .entry take_pieces_out(.param .u64 p_page, .param .u32 p_count)
{
    .shared .align 8 .b8 table[{piece bytes}];
    .reg .u64 page, rows, own, decoy, kept;
    .reg .u32 count;
    ld.param.u64 page, [p_page];
    ld.param.u32 count, [p_count];
    mov.u64 rows, table;
    mov.u64 own, 0;
    mov.u64 decoy, 8;
    mov.u64 kept, 16;
    call read_pieces, (page, rows, count);
    call move_pieces, (rows, count, kept, own);
    call move_pieces, (rows, count, own, decoy);
    ret;
}

.visible .entry hold_device(.param .u64 p_page, .param .u32 p_count, .param .u32 p_number, .param .u64 p_most)
{
    .shared .align 8 .b8 table[{piece bytes}];
    .reg .u64 page, first, now, step, limit, rows, own, kept;
    .reg .u32 mine, count, seen, thread;
    .reg .pred is;
    ld.param.u64 page, [p_page];
    ld.param.u32 count, [p_count];
    ld.param.u32 mine, [p_number];
    ld.param.u64 limit, [p_most];
    mov.u64 rows, table;
    mov.u64 own, 0;
    mov.u64 kept, 16;
    call read_pieces, (page, rows, count);
    call move_pieces, (rows, count, own, kept);
    mov.u32 thread, %tid.x;
    setp.ne.u32 is, thread, 0;
    @is bra END;
    membar.sys;
    st.volatile.global.u32 [page+{held}], mine;
    mov.u64 first, %globaltimer;
AGAIN:
    ld.volatile.global.u32 seen, [page+{let go}];
    mov.u64 now, %globaltimer;
    setp.eq.u32 is, seen, mine;
    @is bra LET_GO;
    sub.u64 step, now, first;
    setp.lt.u64 is, step, limit;
    @is bra AGAIN;
LET_GO:
    st.volatile.global.u64 [page+{let go at}], now;
    membar.sys;
END:
    ret;
}
)";

    static constexpr const char* of_seal = R"(
.visible .entry seal(.param .u64 p_page, .param .u32 p_rows, .param .u32 p_records, .param .align 4 .b8 p_key[12],
                     .param .u32 p_number, .param .u64 p_into)
{
    .shared .align 8 .b8 table[{row bytes}];
    .reg .u64 page, shared, into, own, first, skipped, left;
    .reg .u32 count, row, next, low;
    {registers}
    ld.param.u64 page, [p_page];
    ld.param.u32 count, [p_rows];
    ld.param.u32 most, [p_records];
    ld.param.u32 k0, [p_key];
    ld.param.u32 k1, [p_key+4];
    ld.param.u32 k2, [p_key+8];
    ld.param.u32 number, [p_number];
    ld.param.u64 into, [p_into];
    mov.u64 shared, table;
    {part}
    shl.b32 most, most, 3;
    shl.b32 t, count, 2;
    mov.u32 next, thread;
COPY:
    setp.ge.u32 is, next, t;
    @is bra COPIED;
    mul.wide.u32 at, next, 8;
    add.u64 from, page, at;
    add.u64 to, shared, at;
    ld.volatile.global.u64 t8, [from+{rows}];
    st.shared.u64 [to], t8;
    add.u32 next, next, threads;
    bra COPY;
COPIED:
    bar.sync 0;
    setp.ge.u32 outside, part, most;
    @outside bra END;
    mov.u32 row, 0;
SEARCH:
    add.u32 next, row, 1;
    setp.ge.u32 is, next, count;
    @is bra FOUND;
    mul.wide.u32 at, next, 32;
    add.u64 at, at, shared;
    ld.shared.u64 first, [at+24];
    cvt.u32.u64 t, first;
    setp.gt.u32 is, t, record;
    @is bra FOUND;
    mov.u32 row, next;
    bra SEARCH;
FOUND:
    mul.wide.u32 at, row, 32;
    add.u64 at, at, shared;
    ld.shared.u64 own, [at];
    ld.shared.u64 place, [at+8];
    ld.shared.u64 left, [at+16];
    ld.shared.u64 first, [at+24];
    cvt.u64.u32 skipped, record;
    sub.u64 skipped, skipped, first;
    mul.lo.u64 skipped, skipped, {record words};
    sub.u64 left, left, skipped;
    min.u64 left, left, {record words};
    cvt.u32.u64 words, left;
    add.u64 place, place, skipped;
    mul.wide.u32 at, record, {record bytes};
    add.u64 at, at, into;
    mul.wide.u32 to, within, 64;
    add.u64 to, to, at;
    cvt.u64.u32 t8, offset;
    add.u64 from, skipped, t8;
    shl.b64 from, from, 2;
    add.u64 from, from, own;
    mul.lo.u32 index, record, {blocks of record};
    setp.ne.u32 other, within, 0;
    @other bra DATA;
    {block of header}
    xor.b32 x0, x0, {record tag};
    xor.b32 x1, x1, words;
    cvt.u32.u64 low, place;
    xor.b32 x2, x2, low;
    shr.u64 high, place, 32;
    cvt.u32.u64 low, high;
    xor.b32 x3, x3, low;
    st.global.v4.u32 [at], {x0, x1, x2, x3};
DATA:
    add.u32 index, index, within;
    add.u32 index, index, 1;
    {block of data}
    {seal part}
END:
    ret;
}
)";

    // The gate of a call. A release of 0xFFFFFFFF means that the judge makes no more calls. The code runs once without
    // effect before the gate reports that it runs, because the judge has flushed the caches. Only one thread reads the
    // page in host memory and passes the words on: each read takes a microsecond, one after the other.
    static constexpr const char* of_gate = R"(
.visible .entry warpboard_open_gate(.param .u64 p_page, .param .u32 p_number, .param .u64 p_inputs, .param .u64 p_records, .param .u32 p_parts,
                          .param .u64 p_ready)
{
    .shared .align 4 .b8 line[16];
    .reg .u64 page, inputs, records, ready, seen, shared;
    .reg .pred first;
    .reg .u32 h<4>, l<4>, last, pass, of_data, low;
    {registers}
    ld.param.u64 page, [p_page];
    ld.param.u32 number, [p_number];
    ld.param.u64 inputs, [p_inputs];
    ld.param.u64 records, [p_records];
    ld.param.u32 most, [p_parts];
    ld.param.u64 ready, [p_ready];
    mov.u64 shared, line;
    mov.u32 last, %nctaid.x;
    sub.u32 last, last, 1;
    {part}
    setp.ge.u32 outside, part, most;
    mul.wide.u32 at, record, {record bytes};
    add.u64 at, at, records;
    mul.wide.u32 from, within, 64;
    add.u64 from, from, at;
    mov.u32 pass, 0;
    @outside bra OPEN;
    ld.global.v4.u32 {h0, h1, h2, h3}, [at];
    {load part}
    bra OPEN;
WAIT:
    bar.sync 0;
    setp.ne.u32 other, thread, 0;
    @other bra MEET;
    atom.global.inc.u32 t, [ready], last;
    setp.eq.u32 is, t, last;
    @is st.volatile.global.u32 [page+{active}], number;
    setp.eq.u32 first, group, 0;
    add.u64 ready, ready, 16;
    selp.u64 seen, page, ready, first;
AGAIN:
    ld.volatile.global.v4.u32 {l0, l1, l2, l3}, [seen];
    setp.eq.u32 is, l0, number;
    @is bra RELEASED;
    setp.ne.u32 is, l0, 0xFFFFFFFF;
    @is bra AGAIN;
RELEASED:
    @first st.volatile.global.v4.u32 [ready], {l0, l1, l2, l3};
    st.shared.u32 [shared], l1;
    st.shared.u32 [shared+4], l2;
    st.shared.u32 [shared+8], l3;
MEET:
    bar.sync 0;
OPEN:
    ld.volatile.shared.u32 k0, [shared];
    ld.volatile.shared.u32 k1, [shared+4];
    ld.volatile.shared.u32 k2, [shared+8];
    mul.lo.u32 index, record, {blocks of record};
    mov.u32 of_data, 0;
BLOCK:
    {block}
    setp.eq.u32 is, of_data, 1;
    @is bra WRITE;
    xor.b32 t, h0, x0;
    setp.ne.or.u32 other, t, {record tag}, outside;
    setp.eq.or.u32 other, pass, 0, other;
    xor.b32 words, h1, x1;
    selp.u32 words, 0, words, other;
    xor.b32 low, h2, x2;
    cvt.u64.u32 place, low;
    xor.b32 low, h3, x3;
    cvt.u64.u32 high, low;
    add.u32 index, index, within;
    add.u32 index, index, 1;
    mov.u32 of_data, 1;
    bra BLOCK;
WRITE:
    shl.b64 high, high, 32;
    or.b64 place, place, high;
    cvt.u64.u32 t8, offset;
    add.u64 place, place, t8;
    shl.b64 place, place, 2;
    add.u64 to, inputs, place;
    {open part}
    add.u32 pass, pass, 1;
    setp.eq.u32 is, pass, 1;
    @is bra WAIT;
    ret;
}
)";
};

}  // namespace warpboard

#endif
