# k-mers of a sample on one machine, and the model of its spectrum.
k = config["count"]["k"]
least = config["count"]["min_count"]


rule count:
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
        mem_mb=memory(2000, 1500, reads_of),
        runtime=minutes(10, 10, reads_of),
        gpu=gpus,
    retries: 2
    shell:
        "merganser count -k {k} --min-count {least} --threads {threads} --memory {resources.mem_mb}M"
        " --device {device} --tmp-dir {resources.tmpdir:q}"
        " -o {output.table:q} --histogram {output.histogram:q} {input:q} 2> {log:q}"


rule spectrum:
    input:
        "results/counts/{sample}.hist",
    output:
        model="results/spectra/{sample}.txt",
        data="results/spectra/{sample}.json",
        multiqc=touch("results/spectra/{sample}.multiqc"),
    log:
        "logs/spectrum/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    retries: 2
    group:
        "spectra"
    params:
        ploidy=config["count"]["ploidy"],
    shell:
        "merganser kmers histogram --model -k {k} --ploidy {params.ploidy} --sample-name {wildcards.sample:q}"
        " --report-data {output.data:q} --multiqc results/multiqc/{wildcards.sample:q}"
        " -o {output.model:q} {input:q} 2> {log:q}"
