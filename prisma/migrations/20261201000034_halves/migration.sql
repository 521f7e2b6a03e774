-- Requests that were sent as events with a trace id: one half of a request when the other side of it sent its own, or spans.
-- Deflated JSON, NULL without any; their traces stand in trace_index with no spans.
ALTER TABLE span_chunk ADD COLUMN halves bytea;
