--[[
Takes a filter as others have left it for the live generation: its canaries are added, and the metadata say so. One that is the
caller's own is made.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   states in which the metadata may be, with a space before and after each; missing ones are unbuilt
ARGV[2]   format that the metadata must have, if there are any
ARGV[3]   number of canaries
ARGV[4]   number of arguments of BF.RESERVE
ARGV[5]   token of the generation
ARGV[6..] the canaries, what BF.RESERVE takes after the key to make a filter that is unbuilt, if it is to be made, and fields and
          values of the generation

Reply: 'STALE'    the metadata are in another state
       'MISSING'  there is no filter
       the reply of BF.INSERT in which a canary was refused
       'OK'
]]
local kind, state = redis.call('TYPE', KEYS[1]).ok, 'unbuilt'
if kind == 'hash' then
  local known = redis.call('HMGET', KEYS[1], 'format', 'state', 'token')
  if known[1] ~= ARGV[2] or known[3] then return 'STALE' end
  state = known[2] or '?'
elseif kind ~= 'none' then
  return 'STALE'
end
if not string.find(ARGV[1], ' ' .. state .. ' ', 1, true) then return 'STALE' end

local canaries, reserve = tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('EXISTS', KEYS[2]) == 0 then
  if reserve == 0 or state ~= 'unbuilt' then return 'MISSING' end
  redis.call('BF.RESERVE', KEYS[2], unpack(ARGV, 6 + canaries, 5 + canaries + reserve))
end
local reply = redis.pcall('BF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 6, 5 + canaries))
if reply.err then return reply end
for i = 1, #reply do
  if type(reply[i]) == 'table' then return reply end
end
local server = redis.pcall('INFO', 'server')
local runId = type(server) == 'string' and string.match(server, 'run_id:(%w+)') or ''
redis.call('HDEL', KEYS[1], 'recent')
-- The canaries are what was added last; the number tells whether peers add to it from here on.
local info = redis.pcall('BF.INFO', KEYS[2])
for i = 1, info.err and 0 or #info, 2 do
  local name = type(info[i]) == 'table' and info[i].ok or info[i]
  if name == 'Number of items inserted' then
    redis.call('HSET', KEYS[1], 'recent', ARGV[5] .. ' ' .. string.format('%d', info[i + 1]) .. '\n')
  end
end
redis.call('HSET', KEYS[1], 'format', ARGV[2], 'state', 'ready', 'runId', runId, unpack(ARGV, 6 + canaries + reserve))
return 'OK'
