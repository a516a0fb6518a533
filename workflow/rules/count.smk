# Counts the k-mers of a sample on one machine, and fits the model of its spectrum.

rule count:
    wildcard_constraints:
        sample=one_of(sample for sample in samples if shards(sample) == 1),
    input:
        reads_of,
    output:
        table="results/counts/{sample}.mgk",
        histogram="results/counts/{sample}.hist",
    log:
        "logs/count/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["count"]["threads"]
    resources:
        mem_mb=by_size(2000, 1500, originals_of),
        runtime=by_size(10, 10, originals_of),
        gpu=gpus,
    retries: 2
    params:
        k=config["count"]["k"],
        least=config["count"]["min_count"],
        device=device,
    shell:
        "merganser count -k {params.k} --min-count {params.least} --threads {threads} --memory {resources.mem_mb}M"
        " --device {params.device} --tmp-dir {resources.tmpdir:q}"
        " -o {output.table:q} --histogram {output.histogram:q} {input:q} 2> {log:q}"


rule spectrum:
    input:
        "results/counts/{sample}.hist",
    output:
        model="results/spectra/{sample}.txt",
        data="results/spectra/{sample}.json",
        sections=multiext(
            "results/multiqc/{sample}.merganser_", "spectrum_mqc.json", "spectrum_stats_mqc.json"
        ),
    log:
        "logs/spectrum/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    retries: 2
    params:
        k=config["count"]["k"],
        ploidy=config["count"]["ploidy"],
    shell:
        "merganser kmers histogram --model -k {params.k} --ploidy {params.ploidy} --sample-name {wildcards.sample:q}"
        " --report-data {output.data:q} --multiqc results/multiqc/{wildcards.sample:q}"
        " -o {output.model:q} {input:q} 2> {log:q}"
