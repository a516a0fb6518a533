# Counts samples that are too large for one machine: shards of the input, ranges of k-mers, one table. The results have the same bytes
# as those of rule count.


rule count_shard:
    input:
        reads_of,
    output:
        temp("results/shards/{sample}/{shard}-of-{of}.mgk"),
    log:
        "logs/shards/{sample}/{shard}-of-{of}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["count"]["threads"]
    resources:
        mem_mb=by_size(2000, 1500, config["count"]["shard_gigabytes"]),
        runtime=by_size(10, 10, config["count"]["shard_gigabytes"]),
        gpu=gpus,
    retries: 2
    params:
        k=config["count"]["k"],
        device=device,
    shell:
        "merganser count -k {params.k} --shard {wildcards.shard}/{wildcards.of} --threads {threads}"
        " --memory {resources.mem_mb}M --device {params.device} --tmp-dir {resources.tmpdir:q}"
        " -o {output:q} {input:q} 2> {log:q}"


rule join_range:
    input:
        shard_tables,
    output:
        temp("results/ranges/{sample}/{range}-of-{of}.mgk"),
    log:
        "logs/ranges/{sample}/{range}-of-{of}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["count"]["threads"]
    resources:
        # The indexes of all shards are in memory; each takes a hundredth of its table.
        mem_mb=by_size(2000, 20, shard_tables),
        runtime=by_size(10, 1, shard_tables),
    retries: 2
    params:
        least=config["count"]["min_count"],
    shell:
        "merganser kmers union --min-count {params.least} --range {wildcards.range}/{wildcards.of}"
        " --threads {threads} --memory {resources.mem_mb}M -o {output:q} {input:q} 2> {log:q}"


rule concat_ranges:
    wildcard_constraints:
        sample=one_of(sample for sample in samples if shards(sample) > 1),
    input:
        range_tables,
    output:
        table="results/counts/{sample}.mgk",
        histogram="results/counts/{sample}.hist",
    log:
        "logs/concat/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["count"]["threads"]
    resources:
        mem_mb=by_size(2000, 20, range_tables),
        runtime=by_size(10, 1, range_tables),
    retries: 2
    shell:
        "merganser kmers concat --threads {threads} --memory {resources.mem_mb}M"
        " -o {output.table:q} --histogram {output.histogram:q} {input:q} 2> {log:q}"
