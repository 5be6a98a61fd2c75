import { z } from 'zod';

/** A stored JSON object. */
export const StoredValue = z.record(z.string(), z.json());
