/** Returns its input. */
import { JsonValue, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool } from '../core/ports/tool.ts';

const Input = z.object({ value: JsonValue.describe('Text or any JSON value.') });

export const echo = defineTool({
  name: 'echo',
  description: 'Returns its input.',
  input: Input,
  repeatable: true,
  approval: () => null,
  run: async ({ value }) => ({
    parts: [textPart(typeof value === 'string' ? value : JSON.stringify(value))],
    data: { value },
  }),
});
