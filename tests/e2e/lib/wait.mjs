// Waiting: for a condition, with a bound, and never for a fixed time.
import {setTimeout as pause} from 'node:timers/promises';

// Polls until `condition` gives something true, and gives that; throws after `within` milliseconds.
// A condition that throws has not come true yet.
export async function until(what, condition, {within = 15_000, every = 25} = {}) {
  const end = Date.now() + within;
  let last;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= end) {
      throw new Error(`waited ${within} ms in vain until ${what}`, {cause: last});
    }
    await pause(every);
  }
}

// For tests about the passing of time itself: nothing happens for so long.
export const idle = (milliseconds) => pause(milliseconds);
