import { z } from 'zod';
import { named } from '../shared/description.ts';

export const ErrorAnswer = named(
  'AguiError',
  z.object({ message: z.string(), code: z.string().describe('the code of the fault, such as not_found') }),
);
