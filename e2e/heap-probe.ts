/** Preloaded into a server under test: answers at a socket with the size of its heap after a collection. */
import { heapStats } from 'bun:jsc';

const unix = process.env.HEAP_PROBE;
// Commands that the server runs have the same options, but not this variable.
if (unix)
  Bun.serve({
    unix,
    fetch() {
      Bun.gc(true);
      return new Response(String(heapStats().heapSize));
    },
  });
