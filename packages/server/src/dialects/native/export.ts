/** A session as a file: lines of JSON, read from the store a page at a time, as fast as the client takes them. */
import type { Engine, SessionRecord } from '../../core/api/index.ts';
import { exportedLines } from '../../core/api/index.ts';

/**
 * Resolves when the first page is read, so that what is gone by then is refused in words. A client that was cut off sees
 * fewer lines than the header says; what fails in the middle breaks the transfer.
 */
export async function exportAnswer(engine: Engine, record: SessionRecord): Promise<Response> {
  const { ref } = record;
  const encoder = new TextEncoder();
  const pages = exportedLines(record, (after, limit) => engine.events(ref, after, limit));
  let page = await pages.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (page.done) return controller.close();
      controller.enqueue(encoder.encode(page.value));
      page = await pages.next();
    },
    async cancel() {
      await pages.return();
    },
  });
  const name = encodeURIComponent(`${ref.id}.jsonl`).replaceAll("'", '%27');
  return new Response(body, {
    headers: {
      'content-type': 'application/x-ndjson',
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'cache-control': 'no-store',
    },
  });
}
