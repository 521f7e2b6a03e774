/** A CSV answer that nobody may keep; a browser saves it under this name. */
export function answerCsv(text: string, name: string): Response {
  return new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'private, no-store',
    },
  });
}
