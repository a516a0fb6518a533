process MERGANSER_CLASSIFY {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/merganser:0.3.0--BUILD'
        : 'quay.io/biocontainers/merganser:0.3.0--BUILD'}"

    input:
    tuple val(meta), path(reads)
    path database

    output:
    tuple val(meta), path("*.classified.tsv.gz"), emit: lines
    tuple val(meta), path("*.kreport"),           emit: report
    tuple val(meta), path("*.json"),              emit: summary
    tuple val("${task.process}"), val('merganser'), eval("merganser --version | sed -n '1s/.* //p'"), topic: versions, emit: versions_merganser

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    def input = meta.single_end ? "${reads}" : "-1 ${reads[0]} -2 ${reads[1]}"
    """
    merganser classify \\
        --threads ${task.cpus} \\
        ${memory} \\
        --tmp-dir . \\
        ${args} \\
        --report ${prefix}.kreport \\
        --json ${prefix}.json \\
        --output ${prefix}.classified.tsv.gz \\
        ${database} \\
        ${input}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo | gzip > ${prefix}.classified.tsv.gz
    touch ${prefix}.kreport
    touch ${prefix}.json
    """
}
