"""The paper's theory of identifiability, computable: connectivity, label distance, theorems, certificates."""

from stepsmooth.topology.certificate import Certificate
from stepsmooth.topology.certify import certify
from stepsmooth.topology.clusters import cluster_distances, cluster_graph, label_distance
from stepsmooth.topology.connectivity import connectivity, neighbor_graph
from stepsmooth.topology.distance import Monotone
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.modulus import Modulus, as_modulus, channel_factor, level_gap
from stepsmooth.topology.spanning import SpanningTree, minimum_spanning_tree
from stepsmooth.topology.theorems import (
    Limit,
    Recovery,
    cluster_recovery,
    level_bound,
    limit_of_recovery,
    sample_size,
)

__all__ = [
    "Certificate",
    "Lattice",
    "Limit",
    "Modulus",
    "Monotone",
    "Recovery",
    "SpanningTree",
    "as_modulus",
    "certify",
    "channel_factor",
    "cluster_distances",
    "cluster_graph",
    "cluster_recovery",
    "connectivity",
    "label_distance",
    "level_bound",
    "level_gap",
    "limit_of_recovery",
    "minimum_spanning_tree",
    "neighbor_graph",
    "sample_size",
]
