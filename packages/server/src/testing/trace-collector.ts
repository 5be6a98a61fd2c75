/** An OpenTelemetry collector over HTTP, for tests. */

type Value = {
  stringValue?: string;
  intValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
};
type OtlpRequest = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status: { code: number };
};
type Batch = {
  resourceSpans: {
    resource: { attributes: OtlpRequest['attributes'] };
    scopeSpans: { spans: OtlpRequest[] }[];
  }[];
};

export type ReceivedSpan = Omit<OtlpRequest, 'attributes'> & {
  readonly attributes: Record<string, unknown>;
  readonly service: unknown;
};

const read = (value: Value): unknown =>
  value.arrayValue
    ? value.arrayValue.values.map(read)
    : (value.stringValue ?? value.intValue ?? value.boolValue);
const record = (attributes: OtlpRequest['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, read(value)]));

export function openCollector() {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== '/v1/traces') return new Response('not here', { status: 404 });
      const body = await request.text();
      bodies.push(body);
      for (const { resource, scopeSpans } of (JSON.parse(body) as Batch).resourceSpans) {
        const service = record(resource.attributes)['service.name'];
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, attributes: record(span.attributes), service });
      }
      return Response.json({});
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, spans, bodies, stop: () => server.stop(true) };
}
