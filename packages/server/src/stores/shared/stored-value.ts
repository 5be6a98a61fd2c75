import { z } from 'zod';

/** A JSON object as it was stored. */
export const StoredValue = z.record(z.string(), z.json());
