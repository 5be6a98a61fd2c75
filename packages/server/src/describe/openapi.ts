/** The OpenAPI 3.1 document of all HTTP endpoints, built from the schemas that the routes validate with. */

import type { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import type { Answer, Endpoint, Security } from '../dialects/kit/description.ts';
import type { Described } from './descriptions.ts';
import { bodySchema, componentSchemas, type JsonSchema, parameterSchema } from './json-schema.ts';

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
};
type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Requirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: object; readonly content?: Content }>
  >;
};
export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: object;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
};

export function openApiDocument(descriptions: readonly Described[]): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { name, endpoints } of descriptions) {
    for (const endpoint of endpoints) {
      const operations = paths[endpoint.path] ?? {};
      operations[endpoint.method] = operation(endpoint, name);
      paths[endpoint.path] = operations;
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parlance',
      version: version,
      description: 'The HTTP endpoints of an agent server that speaks many client protocols.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: descriptions.map(({ name, summary }) => ({ name, description: summary })),
    paths,
    components: { schemas: componentSchemas(), securitySchemes: SCHEMES },
  };
}

/** The document as checked in and served. */
export const openApiText = (descriptions: readonly Described[]): string =>
  `${JSON.stringify(openApiDocument(descriptions), null, 2)}\n`;

function operation(endpoint: Endpoint, tag: string): Operation {
  const { method, path, summary, security, body, bodyTypes = ['application/json'], answers } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: operationId(method, path),
    summary,
    tags: [tag],
    security: SECURITY[security],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: contentOf(body, bodyTypes) } }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, response([answer].flat())]),
    ),
  };
}

/** `get /v1/sessions/{id}` is getV1SessionsId. */
const operationId = (method: string, path: string): string =>
  method + path.replace(/[^a-z0-9]+([a-z0-9]?)/gi, (_, letter: string) => letter.toUpperCase());

function parametersOf({ path, params, query, headers }: Endpoint): Parameter[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => {
    const schema = params?.shape[name];
    return {
      name,
      in: 'path',
      required: true,
      schema: schema ? parameterSchema(schema as z.ZodType) : { type: 'string' },
    };
  });
  return [...named, ...fields(query, 'query'), ...fields(headers, 'header')];
}

const fields = (schema: z.ZodObject | undefined, place: 'query' | 'header'): Parameter[] =>
  Object.entries(schema?.shape ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: !(field as z.ZodType).safeParse(undefined).success,
    schema: parameterSchema(field as z.ZodType),
  }));

const contentOf = (schema: z.ZodType, types: readonly string[]): Content =>
  Object.fromEntries(types.map((type) => [type, { schema: bodySchema(schema) }]));

function response(answers: readonly Answer[]): Operation['responses'][string] {
  const [{ description, headers } = { description: '', headers: undefined }] = answers;
  const contents = answers.map(({ schema, type = 'application/json' }) =>
    schema ? contentOf(schema, [type]) : {},
  );
  const content: Content = Object.assign({}, ...contents);
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          { description: text, schema: { type: 'string' } },
        ]),
      ),
    }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

// Authentication schemes of the endpoints.

type Requirement = Readonly<Record<string, readonly string[]>>;

const TOKEN: readonly Requirement[] = [{ bearer: [] }, { token: [] }];

const SECURITY: Record<Security, readonly Requirement[]> = {
  nobody: [],
  caller: [...TOKEN, {}],
  token: TOKEN,
  signed: [{ signature: [] }],
};

const SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A token from a login endpoint. If it is optional, that applies to open mode only: the caller is then `local`.',
  },
  token: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The same token, for clients that cannot set headers.',
  },
  signature: {
    type: 'apiKey',
    in: 'query',
    name: 'auth_signature',
    description:
      'HMAC-SHA256 over method, path and query, with auth_key, auth_timestamp, auth_version and body_md5 beside it, as Pusher signs.',
  },
};
