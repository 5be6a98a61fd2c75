/** A session as a file: lines of JSON, read from the store a page at a time, as fast as the client takes them. */
import type { Engine, SessionRecord } from '../../core/engine.ts';
import { exportedLines } from '../../core/engine.ts';

/** A client that was cut off sees fewer lines than the header says; what fails in the middle breaks the transfer. */
export function exportAnswer(engine: Engine, record: SessionRecord): Response {
  const { ref } = record;
  const encoder = new TextEncoder();
  const pages = exportedLines(record, (after, limit) => engine.facts(ref, after, limit));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
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
