# Removes the reads of a host, of each line of the table by itself.

rule deplete_pairs:
    input:
        first=lambda wildcards: row_of(wildcards)[0],
        second=lambda wildcards: row_of(wildcards)[1],
        set=host or [],
    output:
        first="results/deplete/{sample}/{row}_1.{format}.gz",
        second="results/deplete/{sample}/{row}_2.{format}.gz",
    log:
        "logs/deplete/{sample}/{row}.{format}.pairs.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["deplete"]["threads"]
    resources:
        mem_mb=by_size(1000, 8000, gigabytes([host]) if host else 0),
        runtime=by_size(10, 5, row_of),
    retries: 2
    shell:
        "merganser deplete filter {input.set:q} -1 {input.first:q} -2 {input.second:q}"
        " --threads {threads} --memory {resources.mem_mb}M"
        " -o {output.first:q} --output2 {output.second:q} 2> {log:q}"


rule deplete_single:
    input:
        reads=row_of,
        set=host or [],
    output:
        "results/deplete/{sample}/{row}.{format}.gz",
    log:
        "logs/deplete/{sample}/{row}.{format}.single.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["deplete"]["threads"]
    resources:
        mem_mb=by_size(1000, 8000, gigabytes([host]) if host else 0),
        runtime=by_size(10, 5, row_of),
    retries: 2
    shell:
        "merganser deplete filter {input.set:q} {input.reads:q}"
        " --threads {threads} --memory {resources.mem_mb}M -o {output:q} 2> {log:q}"
