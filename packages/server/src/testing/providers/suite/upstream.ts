/** A local vendor that sends given chunks. */

export type Upstream = {
  readonly url: string;
  /** parsed bodies of the requests */
  readonly requests: unknown[];
  /** the response from now on */
  answer: { readonly status: number; readonly type: string; readonly pieces: readonly Uint8Array[] };
  stop(): Promise<void>;
};

export function upstream(): Upstream {
  const requests: unknown[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      requests.push(await request.json());
      const { status, type, pieces } = self.answer;
      return new Response(pieceByPiece(pieces), { status, headers: { 'content-type': type } });
    },
  });
  const self: Upstream = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    answer: { status: 200, type: 'text/event-stream', pieces: [] },
    stop: () => server.stop(true),
  };
  return self;
}

/** One event loop turn between two chunks: most of them are read as they were split. */
const pieceByPiece = (pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> => {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const piece = pieces[at++];
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
};
