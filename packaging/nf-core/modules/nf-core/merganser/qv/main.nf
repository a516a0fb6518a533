process MERGANSER_QV {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/merganser:0.3.0--BUILD'
        : 'quay.io/biocontainers/merganser:0.3.0--BUILD'}"

    input:
    tuple val(meta), path(reads)
    tuple val(meta2), path(assemblies)

    output:
    tuple val(meta), path("${prefix}.qv"),                 emit: qv
    tuple val(meta), path("${prefix}.completeness.stats"), emit: completeness
    tuple val(meta), path("${prefix}.*.spectra-cn.hist"),  emit: spectra_cn
    tuple val(meta), path("${prefix}.spectra-asm.hist"),   emit: spectra_asm
    tuple val(meta), path("*_only.bed"),                   emit: bed
    tuple val(meta), path("*.png"),                        emit: png, optional: true
    tuple val(meta), path("*.svg"),                        emit: svg, optional: true
    tuple val(meta), path("*.json"),                       emit: summary
    tuple val("${task.process}"), val('merganser'), eval("merganser --version | sed -n '1s/.* //p'"), topic: versions, emit: versions_merganser

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    """
    merganser kmers qv \\
        --threads ${task.cpus} \\
        ${memory} \\
        --tmp-dir . \\
        ${args} \\
        --json ${prefix}.json \\
        --output ${prefix} \\
        ${reads} \\
        ${assemblies}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.qv
    touch ${prefix}.completeness.stats
    touch ${prefix}.assembly.spectra-cn.hist
    touch ${prefix}.spectra-asm.hist
    touch assembly_only.bed
    touch ${prefix}.json
    """
}
