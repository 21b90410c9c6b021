"""Scripts in Lua, with which a journal does several things in Redis at once, each of which may be
sent again when its answer was lost.

Keys: ``rlenv:e:ID`` an episode, ``rlenv:s:ID`` its steps, ``rlenv:k:TENANT`` episodes by
idempotency key, ``rlenv:o:TENANT``
those that are open, ``rlenv:n:TENANT`` and ``rlenv:n`` those in order, ``rlenv:w`` when each was
last written to, ``rlenv:x`` a stream of the trajectories that no store has yet.
"""

BEGIN = """
local id, tenant, key, begun, limit, now = unpack(ARGV)
local episode = 'rlenv:e:' .. id
if key ~= '' then
  local old = redis.call('HGET', 'rlenv:k:' .. tenant, key)
  if old then return redis.call('HGET', 'rlenv:e:' .. old, 'begun') end
end
if redis.call('EXISTS', episode) == 1 then return begun end
if redis.call('SCARD', 'rlenv:o:' .. tenant) >= tonumber(limit) then return false end
redis.call('HSET', episode, 'begun', begun, 'tenant', tenant, 'key', key, 'steps', 0)
if key ~= '' then redis.call('HSET', 'rlenv:k:' .. tenant, key, id) end
redis.call('SADD', 'rlenv:o:' .. tenant, id)
redis.call('ZADD', 'rlenv:w', now, id)
local number = redis.call('INCR', 'rlenv:number')
redis.call('ZADD', 'rlenv:n', number, id)
redis.call('ZADD', 'rlenv:n:' .. tenant, number, id)
return begun
"""

# The token is drawn for each commit: one that is sent again is known by it.
COMMIT = """
local id, number, taken, token, now, stop, verdict, trajectory = unpack(ARGV)
local episode = 'rlenv:e:' .. id
local held = redis.call('HMGET', episode, 'steps', 'stop', 'token', 'tenant')
local steps, ended, last, tenant = unpack(held)
if not steps then return 0 end
if last == token then return 1 end
if ended or tonumber(steps) ~= tonumber(number) - 1 then return 0 end
redis.call('RPUSH', 'rlenv:s:' .. id, taken)
redis.call('HSET', episode, 'steps', number, 'token', token)
redis.call('ZADD', 'rlenv:w', now, id)
if stop then
  redis.call('HSET', episode, 'stop', stop, 'verdict', verdict)
  if trajectory ~= '' then redis.call('XADD', 'rlenv:x', '*', 'trajectory', trajectory) end
  redis.call('SREM', 'rlenv:o:' .. tenant, id)
end
return 1
"""

FORGET = """
local function forget(id)
  local tenant, key = unpack(redis.call('HMGET', 'rlenv:e:' .. id, 'tenant', 'key'))
  if not tenant then return end
  if key ~= '' then redis.call('HDEL', 'rlenv:k:' .. tenant, key) end
  redis.call('SREM', 'rlenv:o:' .. tenant, id)
  redis.call('ZREM', 'rlenv:n:' .. tenant, id)
  redis.call('ZREM', 'rlenv:n', id)
  redis.call('ZREM', 'rlenv:w', id)
  redis.call('UNLINK', 'rlenv:e:' .. id, 'rlenv:s:' .. id)
end
"""
REMOVE = f"{FORGET} forget(ARGV[1])"

EXPIRE = f"""{FORGET}
local now, keep, count = unpack(ARGV)
now = math.max(tonumber(now), tonumber(redis.call('GET', 'rlenv:clock') or '0'))
local told = string.format('%.6f', now)
redis.call('SET', 'rlenv:clock', told)
local before = '(' .. string.format('%.6f', now - tonumber(keep))
local old = redis.call('ZRANGE', 'rlenv:w', '-inf', before, 'BYSCORE', 'LIMIT', 0, count)
for _, id in ipairs(old) do forget(id) end
return {{told, #old}}
"""

RECENT = """
local name, last = ARGV[1], ARGV[2]
local found = {}
for _, id in ipairs(redis.call('ZRANGE', name, 0, last, 'REV')) do
  table.insert(found, redis.call('HMGET', 'rlenv:e:' .. id, unpack(ARGV, 3)))
end
return found
"""

OPEN = """
local tenant = ARGV[1]
local numbers, found = {}, {}
local ids = redis.call('SMEMBERS', 'rlenv:o:' .. tenant)
for _, id in ipairs(ids) do numbers[id] = tonumber(redis.call('ZSCORE', 'rlenv:n', id)) end
table.sort(ids, function(one, other) return numbers[one] < numbers[other] end)
for _, id in ipairs(ids) do
  table.insert(found, redis.call('HMGET', 'rlenv:e:' .. id, unpack(ARGV, 2)))
end
return found
"""

CLOCK = """
local last = redis.call('ZRANGE', 'rlenv:w', 0, 0, 'REV', 'WITHSCORES')
local clock = tonumber(redis.call('GET', 'rlenv:clock') or '0')
return string.format('%.6f', math.max(clock, tonumber(last[2] or '0')))
"""
