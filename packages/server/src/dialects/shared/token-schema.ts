/** The response to a login, in every dialect that has one. */
import { Role } from '@parlance/protocol';
import { z } from 'zod';
import { named } from './description.ts';

export const Token = named(
  'Token',
  z.object({ access_token: z.string(), token_type: z.literal('bearer'), role: Role }),
);
