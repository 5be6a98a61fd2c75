import { z } from 'zod';
import { named, type Section } from '../endpoint.ts';

const OpenApiDocument = named(
  'OpenApiDocument',
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

export const server: Section = {
  tag: 'server',
  description: 'About the server itself.',
  endpoints: [
    {
      method: 'get',
      path: '/openapi.json',
      summary: 'This description',
      security: 'nobody',
      answers: { 200: { description: 'OpenAPI 3.1', schema: OpenApiDocument } },
    },
  ],
};
