-- How much lower the success rate of another model may be at the worst before a swap is still recommended: a share.
ALTER TABLE "project" ADD COLUMN "success_drop_max" DOUBLE PRECISION NOT NULL DEFAULT 0.005;

ALTER TABLE "project" ADD CONSTRAINT "project_success_drop" CHECK (success_drop_max BETWEEN 0 AND 0.2);
