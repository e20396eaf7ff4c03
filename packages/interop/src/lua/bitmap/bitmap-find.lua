--[[
Reads what peers have under their keys.

KEYS[1]  the string
KEYS[2]  a hash with settings that peers keep beside it, if they do
ARGV[1]  bytes of the head to read

Reply: { type of the string's key, its length, its head, type of the settings' key, field, value, … }
]]
local kind = redis.call('TYPE', KEYS[1]).ok
local reply = { kind, 0, '', 'none' }
if kind == 'string' then
  reply[2] = redis.call('STRLEN', KEYS[1])
  reply[3] = ARGV[1] ~= '0' and redis.call('GETRANGE', KEYS[1], 0, ARGV[1] - 1) or ''
end
if KEYS[2] then
  reply[4] = redis.call('TYPE', KEYS[2]).ok
  if reply[4] == 'hash' then
    for _, text in ipairs(redis.call('HGETALL', KEYS[2])) do
      reply[#reply + 1] = text
    end
  end
end
return reply
