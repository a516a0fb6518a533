# Classifies samples, several in a job, so that the database is loaded once for all of them.

rule sheet:
    output:
        "results/sheets/{batch}.tsv",
    log:
        "logs/sheets/{batch}.log",
    conda:
        "../envs/merganser.yaml"
    localrule: True
    params:
        rows=lambda wildcards: [(sample, *files) for sample in batch_of(wildcards) for files in files_of(sample)],
    script:
        "../scripts/sheet.py"


rule classify:
    input:
        sheet="results/sheets/{batch}.tsv",
        reads=reads_of_batch,
        database=database,
    output:
        temp(directory("results/batches/{batch}")),
    log:
        "logs/classify/{batch}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["classify"]["threads"]
    resources:
        mem_mb=by_size(4000, 1200, gigabytes_of_database()),
        runtime=by_size(10, 5, lambda wildcards: [file for sample in batch_of(wildcards) for file in originals(sample)]),
        gpu=gpus,
    retries: 2
    params:
        device=device,
    shell:
        "mkdir -p {output:q}; "
        "merganser classify {input.database:q} --sample-sheet {input.sheet:q} --threads {threads}"
        " --memory {resources.mem_mb}M --device {params.device} --tmp-dir {resources.tmpdir:q}"
        " -o {output:q}/{{}}.tsv.gz --report {output:q}/{{}}.kreport"
        " --report-minimizer-data --report-data {output:q}/{{}}.json"
        " --multiqc {output:q}/{{}} 2> {log:q}"


rule classified:
    """Copies the outputs of a sample from the job of its batch."""
    input:
        lambda wildcards: f"results/batches/{names.index(wildcards.sample) // samples_per_job}",
    output:
        lines="results/classify/{sample}.tsv.gz",
        report="results/classify/{sample}.kreport",
        data="results/classify/{sample}.json",
        sections=multiext("results/multiqc/{sample}.merganser_", "taxa_mqc.json", "taxa_stats_mqc.json"),
    log:
        "logs/classified/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    localrule: True
    params:
        batch=lambda wildcards, input: f"{input[0]}/{wildcards.sample}",
    shell:
        "cp {params.batch:q}.tsv.gz {output.lines:q} 2> {log:q} && "
        "cp {params.batch:q}.kreport {output.report:q} 2>> {log:q} && "
        "cp {params.batch:q}.json {output.data:q} 2>> {log:q} && "
        "cp {params.batch:q}.merganser_taxa*_mqc.json results/multiqc 2>> {log:q}"


rule bracken:
    """Estimates the reads of each taxon at one rank."""
    input:
        report="results/classify/{sample}.kreport",
        distribution=config["classify"]["bracken"] or [],
    output:
        table="results/bracken/{sample}.tsv",
        report="results/bracken/{sample}.kreport",
    log:
        "logs/bracken/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    localrule: True
    params:
        level=config["classify"]["level"],
    shell:
        "merganser report bracken -d {input.distribution:q} {input.report:q} --level {params.level}"
        " -o {output.table:q} --out-report {output.report:q} 2> {log:q}"
