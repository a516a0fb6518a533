process MERGANSER_COUNT {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/merganser:0.3.0--BUILD'
        : 'quay.io/biocontainers/merganser:0.3.0--BUILD'}"

    input:
    tuple val(meta), path(reads)
    val k

    output:
    tuple val(meta), path("*.mgk"),  emit: table
    tuple val(meta), path("*.hist"), emit: histogram
    tuple val(meta), path("*.json"), emit: summary
    tuple val("${task.process}"), val('merganser'), eval("merganser --version | sed -n '1s/.* //p'"), topic: versions, emit: versions_merganser

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    """
    merganser count \\
        -k ${k} \\
        --threads ${task.cpus} \\
        ${memory} \\
        --tmp-dir . \\
        ${args} \\
        --histogram ${prefix}.hist \\
        --json ${prefix}.json \\
        --output ${prefix}.mgk \\
        ${reads}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.mgk
    touch ${prefix}.hist
    touch ${prefix}.json
    """
}
