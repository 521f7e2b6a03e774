-- CreateTable
CREATE TABLE "term_rule_version" (
    "project_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "effective_from" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "document" JSONB NOT NULL,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "term_rule_version_pkey" PRIMARY KEY ("project_id","version")
);

-- AddForeignKey
ALTER TABLE "term_rule_version" ADD CONSTRAINT "term_rule_version_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;
