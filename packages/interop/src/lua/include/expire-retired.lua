--[[
Gives  expireRetired(from)  lets the keys of the retired generation, from KEYS[from] on, expire after a minute. The caller removes them before that,
                            unless it dies.
]]
local function expireRetired(from)
  for i = from, #KEYS do
    redis.call('PEXPIRE', KEYS[i], 60000)
  end
end
