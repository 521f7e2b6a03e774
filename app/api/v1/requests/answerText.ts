/**
 * Text as a download, sent as it is made. The first piece is awaited, so that an error before any of it is still an
 * answer of its own; one that comes later cuts the stream off, which clients see as an incomplete body.
 */
export async function answerText(
  pieces: AsyncGenerator<string>,
  file: { type: string; name: string },
): Promise<Response> {
  const encoder = new TextEncoder();
  let waiting: IteratorResult<string, unknown> | null = await pieces.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = waiting ?? (await pieces.next());
      waiting = null;
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
  return new Response(body, {
    headers: {
      'content-type': file.type,
      'content-disposition': `attachment; filename="${file.name}"`,
      'cache-control': 'private, no-store',
    },
  });
}
