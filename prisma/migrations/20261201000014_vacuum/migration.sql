-- Parts come and go with every merge: their room is given back before a fifth of the table is dead.
ALTER TABLE rollup SET (
  autovacuum_vacuum_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.02
);
