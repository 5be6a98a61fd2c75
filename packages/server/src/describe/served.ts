/** The documents as they are served. */
import type { Dialect } from '../dialects/kit/dialect.ts';
import { asyncApiText } from './asyncapi.ts';
import { descriptionsOf } from './descriptions.ts';
import { openApiText } from './openapi.ts';

export type ServedDocuments = { readonly openApi: string; readonly asyncApi: string };

export async function documentsOf(dialects: readonly Dialect[]): Promise<ServedDocuments> {
  const descriptions = await descriptionsOf(dialects);
  return { openApi: openApiText(descriptions), asyncApi: asyncApiText(descriptions) };
}
