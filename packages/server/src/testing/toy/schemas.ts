/** The messages of the toy. */
import { SessionId } from '@parlance/protocol';
import { z } from 'zod';

export const Say = z.object({ type: z.literal('say'), session: SessionId, text: z.string().min(1) });
export type Say = z.output<typeof Say>;
export const Said = z.strictObject({ type: z.literal('said'), text: z.string() });
export const Refused = z.strictObject({ type: z.literal('refused'), reason: z.string() });

export type Sent = z.output<typeof Said> | z.output<typeof Refused>;
