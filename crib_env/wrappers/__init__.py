"""Wrappers: the observation in the form that a training library asks for.

`FormatObservation` wraps one environment, `vector.FormatObservation` a vector of them, as Gymnasium
names its own. `ObservationFormat` is what both apply: plain functions of arrays, of use without an
environment too. docs/wrappers.md says which library takes what.
"""

from crib_env.wrappers import vector
from crib_env.wrappers.format_observation import FormatObservation
from crib_env.wrappers.observation_format import ObservationFormat

__all__ = ["FormatObservation", "ObservationFormat", "vector"]
