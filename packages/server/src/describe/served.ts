/** The documents as they are served, each built when it is first requested. */
import { asyncApiText } from './asyncapi.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { openApiText } from './openapi.ts';

function memoize(build: () => string): () => string {
  let text: string | null = null;
  return () => {
    text ??= build();
    return text;
  };
}

export const openApiJson = memoize(() => openApiText(DESCRIPTIONS));

export const asyncApiJson = memoize(() => asyncApiText(DESCRIPTIONS));
