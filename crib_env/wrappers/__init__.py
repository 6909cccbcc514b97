"""Wrappers: the observation in the form that a training library asks for; games written down.

`FormatObservation` wraps one environment, `vector.FormatObservation` a vector of them, as Gymnasium
names its own. `ObservationFormat` is what both apply: plain functions of arrays, of use without an
environment too. docs/wrappers.md says which library takes what. `RecordTranscripts`, its twin
`vector.RecordTranscripts`, and `record_transcripts` for an environment of PettingZoo keep every
finished game as text (docs/notation.md).
"""

from crib_env.wrappers import vector
from crib_env.wrappers.format_observation import FormatObservation
from crib_env.wrappers.observation_format import ObservationFormat
from crib_env.wrappers.record_transcripts import RecordTranscripts, record_transcripts

__all__ = [
    "FormatObservation",
    "ObservationFormat",
    "RecordTranscripts",
    "record_transcripts",
    "vector",
]
