import { z } from 'zod';
import { type Description, type Endpoint, named } from '../dialects/kit/description.ts';

const OpenApiDocument = named(
  'OpenApiDocument',
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

const AsyncApiDocument = named(
  'AsyncApiDocument',
  z.looseObject({ asyncapi: z.string(), channels: z.record(z.string(), z.unknown()) }),
);

const Ready = named('Ready', z.object({ status: z.literal('ready') }));
const Unready = named(
  'Unready',
  z.object({
    status: z.literal('unavailable'),
    reason: z.enum(['starting', 'draining', 'storage_unavailable']),
    detail: z.string(),
  }),
);
const Refused = named('Refused', z.object({ error: z.string(), detail: z.string() }));

export const description: Omit<Description, 'socket'> & { readonly endpoints: readonly Endpoint[] } = {
  title: 'Server',
  summary: 'About the server itself.',
  endpoints: [
    {
      method: 'get',
      path: '/',
      summary: 'The console; a WebSocket at the same path is served in the dialect of its first frame',
      security: 'nobody',
      answers: {
        200: { description: 'The page', schema: z.string(), type: 'text/html' },
        304: { description: 'The page has not changed' },
        503: { description: 'The console was not built', schema: z.string(), type: 'text/html' },
      },
    },
    {
      method: 'get',
      path: '/assets/{file}',
      summary: 'Files of the console, with content hashes in their names',
      security: 'nobody',
      examples: () => [{ params: { file: 'none.js' } }],
      answers: {
        200: { description: 'The file', schema: z.string(), type: 'text/javascript' },
        304: { description: 'The file has not changed' },
        404: { description: 'There is no such file', schema: Refused },
      },
    },
    {
      method: 'get',
      path: '/service-worker.js',
      summary: 'The service worker of the console, which opens it while the server cannot be reached',
      security: 'nobody',
      answers: {
        200: { description: 'The script', schema: z.string(), type: 'text/javascript' },
        304: { description: 'The script has not changed' },
        404: { description: 'The console was not built', schema: Refused },
      },
    },
    {
      method: 'get',
      path: '/ready',
      summary: 'Readiness; /health is liveness',
      security: 'nobody',
      answers: {
        200: { description: 'Ready', schema: Ready },
        503: { description: 'Not ready, with the reason', schema: Unready },
      },
    },
    {
      method: 'get',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      security: 'caller',
      changing: true,
      answers: {
        200: { description: 'The metrics', schema: z.string(), type: 'text/plain' },
        401: { description: 'Missing or invalid token', schema: Refused },
        403: { description: 'The permission metrics:read is missing', schema: Refused },
        503: { description: 'Tokens cannot be checked at the moment', schema: Refused },
      },
    },
    {
      method: 'get',
      path: '/openapi.json',
      summary: 'This description',
      security: 'nobody',
      answers: { 200: { description: 'OpenAPI 3.1', schema: OpenApiDocument } },
    },
    {
      method: 'get',
      path: '/asyncapi.json',
      summary: 'The description of the WebSocket messages',
      security: 'nobody',
      answers: { 200: { description: 'AsyncAPI 3.0', schema: AsyncApiDocument } },
    },
  ],
};
