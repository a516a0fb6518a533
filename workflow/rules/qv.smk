# Evaluates the assemblies of a sample with the k-mers of its reads.

rule qv:
    wildcard_constraints:
        sample=one_of(assembled),
    input:
        reads=reads_of,
        assemblies=lambda wildcards: assemblies(wildcards.sample),
    output:
        qv="results/qv/{sample}.qv",
        completeness="results/qv/{sample}.completeness.stats",
        data="results/qv/{sample}.json",
        sections=multiext("results/multiqc/{sample}.merganser_", "qv_stats_mqc.json", "qv_mqc.json"),
        reads=temp("results/qv/{sample}.reads"),
    log:
        "logs/qv/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["qv"]["threads"]
    resources:
        mem_mb=by_size(4000, 2000, originals_of),
        runtime=by_size(20, 20, originals_of),
        gpu=gpus,
    retries: 2
    params:
        k=config["qv"]["k"],
        device=device,
    shell:
        "printf '%s\\n' {input.reads:q} > {output.reads:q}; "
        "merganser kmers qv -k {params.k} -o results/qv/{wildcards.sample:q} --sample-name {wildcards.sample:q}"
        " --threads {threads} --memory {resources.mem_mb}M --device {params.device} --tmp-dir {resources.tmpdir:q}"
        " --report-data {output.data:q} --multiqc results/multiqc/{wildcards.sample:q}"
        " @{output.reads:q} {input.assemblies:q} 2> {log:q}"
