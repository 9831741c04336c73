// What a test has to put away when it ends, in reverse order: clients before gateways before nodes.
const stacks = new WeakMap();

export function atEnd(t, action) {
  if (!stacks.has(t)) {
    const stack = [];
    stacks.set(t, stack);
    t.after(async () => {
      const failures = [];
      while (stack.length > 0) {
        try {
          await stack.pop()();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }
  stacks.get(t).push(action);
}
