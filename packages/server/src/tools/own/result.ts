/** Converts the return value of an own tool to result parts. */
import { isObject, type JsonObject, PromptPart, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type { ToolResult } from '../../core/ports/tool.ts';
import { boundedParts } from '../bounded-parts.ts';

/** Data is also sent as text: only small data is included twice. */
const DATA_CHARACTERS = 4_000;

const Parts = z.strictObject({ parts: z.array(PromptPart) });

export function resultOf(output: unknown): ToolResult {
  if (typeof output === 'string') return { parts: boundedParts([output], textPart) };
  const given = Parts.safeParse(output);
  if (given.success) return { parts: boundedParts(given.data.parts, (part) => part) };
  const json = JSON.stringify(output) ?? '(no output)';
  const parts = boundedParts([json], textPart);
  if (!isObject(output) || json.length > DATA_CHARACTERS) return { parts };
  return { parts, data: JSON.parse(json) as JsonObject };
}
