-- CreateTable
CREATE TABLE "invite" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    "used_at" TIMESTAMPTZ(6),
    "revoked_at" TIMESTAMPTZ(6),

    CONSTRAINT "invite_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invite_token_hash_key" ON "invite"("token_hash");

-- CreateIndex
CREATE INDEX "invite_project_id_idx" ON "invite"("project_id");

-- AddForeignKey
ALTER TABLE "invite" ADD CONSTRAINT "invite_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "invite" ADD CONSTRAINT "invite_role" CHECK (role IN ('owner', 'member', 'reader'));
ALTER TABLE "invite" ADD CONSTRAINT "invite_token_hash_length" CHECK (octet_length(token_hash) = 32);
