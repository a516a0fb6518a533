# Makes a page of all samples, and a MultiQC page.


rule page:
    input:
        data_of_all,
    output:
        "results/report.html",
    log:
        "logs/report.log",
    conda:
        "../envs/merganser.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    shell:
        "merganser report html -o {output:q} {input:q} 2> {log:q}"


rule multiqc:
    input:
        data_of_all,
    output:
        "results/multiqc.html",
    log:
        "logs/multiqc.log",
    conda:
        "../envs/multiqc.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    shell:
        "multiqc --force --outdir results --filename multiqc.html results/multiqc > {log:q} 2>&1"
