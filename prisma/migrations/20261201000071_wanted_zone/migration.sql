-- The zone that somebody asked for; the worker takes it over together with roll-ups made anew in that zone.
ALTER TABLE "project" ADD COLUMN "wanted_time_zone" TEXT;
