# Maps the reads of a sample, with a read group for each line of the table.

rule map_sheet:
    input:
        reads_of,
    output:
        temp("results/sheets/map/{sample}.tsv"),
    log:
        "logs/sheets/map/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    localrule: True
    params:
        rows=lambda wildcards: [(wildcards.sample, *files) for files in files_of(wildcards.sample)],
    script:
        "../scripts/sheet.py"


rule map:
    input:
        sheet="results/sheets/map/{sample}.tsv",
        reads=reads_of,
        reference=config["map"]["reference"] or [],
    output:
        records="results/map/{sample}.bam",
        index="results/map/{sample}.bam.bai",
        data="results/map/{sample}.json",
        sections=multiext(
            "results/multiqc/{sample}.merganser_", "map_stats_mqc.json", "edits_mqc.json", "inserts_mqc.json"
        ),
    log:
        "logs/map/{sample}.log",
    conda:
        "../envs/merganser.yaml"
    threads: config["map"]["threads"]
    resources:
        mem_mb=by_size(4000, 12000, gigabytes([config["map"]["reference"]])),
        runtime=by_size(20, 30, originals_of),
        gpu=gpus,
    retries: 2
    params:
        options=config["map"]["options"],
        device=device,
    shell:
        "merganser map {input.reference:q} --sample-sheet {input.sheet:q} {params.options} --sort --index-format bai"
        " --threads {threads} --memory {resources.mem_mb}M --device {params.device} --tmp-dir {resources.tmpdir:q}"
        " -o results/map/{{}}.bam --report-data results/map/{{}}.json"
        " --multiqc results/multiqc/{{}} 2> {log:q}"
