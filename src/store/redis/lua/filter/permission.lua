--[[
Reports which commands the caller may not run. The commands change nothing, or fail.

KEYS  the keys of the commands
ARGV  for each command: how many words it has, then these: 'k' and an index into KEYS from 1, or 'a' and a text

Reply: for each command, the error that it gave; '' when there was none
]]
local errors, at = {}, 1
while at <= #ARGV do
  local words = {}
  for i = at + 1, at + ARGV[at] do
    local text = string.sub(ARGV[i], 2)
    words[#words + 1] = string.sub(ARGV[i], 1, 1) == 'k' and KEYS[tonumber(text)] or text
  end
  local reply = redis.pcall(unpack(words))
  errors[#errors + 1] = type(reply) == 'table' and reply.err or ''
  at = at + ARGV[at] + 1
end
return errors
