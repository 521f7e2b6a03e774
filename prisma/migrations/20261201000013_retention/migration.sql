-- How long a project keeps what, in days. Raw: single requests, and what can be rebuilt or corrected from them.
ALTER TABLE "project" ADD COLUMN "raw_days" INTEGER NOT NULL DEFAULT 37,
ADD COLUMN "five_minute_days" INTEGER NOT NULL DEFAULT 14,
ADD COLUMN "hour_days" INTEGER NOT NULL DEFAULT 120,
ADD COLUMN "day_days" INTEGER NOT NULL DEFAULT 1096;

ALTER TABLE "project" ADD CONSTRAINT "project_retention" CHECK (
  raw_days BETWEEN 2 AND 400 AND five_minute_days BETWEEN 2 AND 400 AND hour_days BETWEEN 2 AND 1200
  AND day_days BETWEEN 30 AND 4000
);
