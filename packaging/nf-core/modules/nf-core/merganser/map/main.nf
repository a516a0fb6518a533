process MERGANSER_MAP {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/merganser:0.3.0--BUILD'
        : 'quay.io/biocontainers/merganser:0.3.0--BUILD'}"

    input:
    tuple val(meta), path(reads)
    tuple val(meta2), path(reference)
    val edits

    output:
    tuple val(meta), path("*.bam"),  emit: bam
    tuple val(meta), path("*.bai"),  emit: bai, optional: true
    tuple val(meta), path("*.csi"),  emit: csi, optional: true
    tuple val(meta), path("*.json"), emit: summary
    tuple val("${task.process}"), val('merganser'), eval("merganser --version | sed -n '1s/.* //p'"), topic: versions, emit: versions_merganser

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    def input = meta.single_end ? "${reads}" : "-1 ${reads[0]} -2 ${reads[1]}"
    """
    merganser map \\
        --threshold ${edits} \\
        --threads ${task.cpus} \\
        ${memory} \\
        --tmp-dir . \\
        --sort \\
        ${args} \\
        --json ${prefix}.json \\
        --output ${prefix}.bam \\
        ${reference} \\
        ${input}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.bam
    touch ${prefix}.bam.bai
    touch ${prefix}.json
    """
}
