-- Traces that a link joins: a consumer whose message was sent in another trace belongs to the request of that trace.

-- Pairs (id of a trace, id of the one that its consumer links to), 32 bytes each; NULL without any.
ALTER TABLE span_chunk ADD COLUMN trace_links bytea;

-- Of a trace that took others in: their ids. Of one that was taken in (outcome joined): whose request it belongs to.
ALTER TABLE assembled_trace ADD COLUMN members bytea[];
ALTER TABLE assembled_trace ADD COLUMN joined_to bytea;
