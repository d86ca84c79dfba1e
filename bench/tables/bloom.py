"""C. Dong, L. Chen, Z. Wen, "When private set intersection meets big data", ACM CCS 2013."""

import math

from tables.layout import MB, cell, number, of_paper, print_table


def bloom(bench, paper, largest):
    """Table 3 and Figure 5."""
    logs = [log for log in [10, 12, 14, 16, 18, 20] if log <= largest]
    ours = [
        ("De Cristofaro's, RSA-2048 (112 bit)", "de_cristofaro", "rsa_dt10", 1),
        ("De Cristofaro's, RSA-3072", "de_cristofaro", "rsa_dt10_3072", 1),
        ("one-more-DH of the same paper, 2048", None, "dl_dt10", 1),
        ("pipelined: gbf_paper, one thread", "gbf_pipelined", "gbf_paper", 1),
        ("parallel: gbf_paper, two threads", "gbf_parallel", "gbf_paper", 2),
        ("pipelined: gbf_iknp, one thread", "gbf_pipelined", "gbf_iknp", 1),
        ("pipelined: gbf, one thread", "gbf_pipelined", "gbf", 1),
        ("parallel: gbf, two threads", "gbf_parallel", "gbf", 2),
        ("beside: gbf_malicious", None, "gbf_malicious", 1),
        ("beside: dh", None, "dh", 1),
        ("beside: psz14", None, "psz14", 1),
        ("beside: OT-Phasing", None, "ot_phasing", 1),
        ("beside: KKRT16", None, "kkrt16", 1),
        ("beside: RR22 VOLE-PSI", None, "rr22", 1),
        ("beside: naive hashing (insecure)", None, "naive_hash", 1),
    ]
    for bits, table in paper["table_3"].items():
        rows = [
            [f"Huang's (Java)"] + [f"{number(value)} / –" for value in table["huang_java"][: len(logs)]]
        ]
        for name, key, protocol, threads in ours:
            row = [name]
            for i, log in enumerate(logs):
                found = bench.measure(protocol, 2**log, 2**log, 128, "lan", threads)
                row.append(cell(of_paper(table, key, i), found and found["wall_s"]))
            rows.append(row)
        header = [f"Table 3, the paper at {bits} bit"] + [f"2^{log}" for log in logs]
        print_table("Seconds, paper / ours at 128 bit (times less)", header, rows)

    rows = []
    for bits in [80, 256]:
        # The paper's figure has no numbers; these follow its formula, 2·λ·m bits, m = 1.44·k·n, k = λ.
        sizes = [2 * bits * math.log2(math.e) * bits * 2**log / 8 / MB for log in logs]
        rows.append([f"paper's formula, {bits} bit"] + [number(size) for size in sizes])
    for name, _, protocol, threads in ours:
        if threads == 1:
            found = [bench.measure(protocol, 2**log, 2**log, 128, "lan", 1) for log in logs]
            sizes = [number(one and one["bytes_total"] / MB) for one in found]
            rows.append([name] + sizes)
    print_table("MB of 2^20 bytes", ["Figure 5"] + [f"2^{log}" for log in logs], rows)
