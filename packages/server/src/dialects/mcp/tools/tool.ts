import { z } from 'zod';
import type { Context } from '../context.ts';
import type { ToolCall } from '../tool-call.ts';

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly readOnly: boolean;
  /** the call may take as long as a turn */
  readonly isLong: boolean;
  /** The arguments match `input`. A `Fault` becomes a result with `isError`. */
  run(ctx: Context, call: ToolCall, args: never): Promise<object>;
};

/** Gives `run` the type of the arguments. */
export const defineTool = <Input extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run' | 'isLong' | 'readOnly'> &
    Partial<Pick<Tool, 'isLong' | 'readOnly'>> & {
      readonly input: Input;
      run(ctx: Context, call: ToolCall, args: z.output<Input>): Promise<object>;
    },
): Tool => ({ isLong: false, readOnly: false, ...tool });

export const toolView = ({ name, title, description, input, output, readOnly }: Tool) => ({
  name,
  title,
  description,
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
  outputSchema: z.toJSONSchema(output),
  annotations: { title, readOnlyHint: readOnly },
});

/** A result with structured data, and a text for clients without support for it. */
export const dataResult = (structuredContent: object, text: string) => ({
  content: [{ type: 'text' as const, text }],
  structuredContent,
});

export const errorResult = (message: string) => ({
  content: [{ type: 'text' as const, text: message }],
  isError: true,
});
